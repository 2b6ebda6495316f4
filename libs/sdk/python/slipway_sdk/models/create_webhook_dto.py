from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="CreateWebhookDto")


@_attrs_define
class CreateWebhookDto:
    """
    Attributes:
        url (str): https and a public address, or what the operator allows for webhooks. Redirects are not followed.
            Example: https://hooks.example.com/slipway.
        deployments (list[str] | Unset): Only events of these deployments. Empty = everything of the tenant. `[]` unless
            given. Example: ['chat'].
        description (None | str | Unset): For people
        event_types (list[str] | Unset): Which events to send: exact types, or all of a kind as in `rollout.*`. Empty =
            all. `[]` unless given. Example: ['rollout.*', 'route.updated'].
    """

    url: str
    deployments: list[str] | Unset = UNSET
    description: None | str | Unset = UNSET
    event_types: list[str] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        url = self.url

        deployments: list[str] | Unset = UNSET
        if not isinstance(self.deployments, Unset):
            deployments = self.deployments

        description: None | str | Unset
        if isinstance(self.description, Unset):
            description = UNSET
        else:
            description = self.description

        event_types: list[str] | Unset = UNSET
        if not isinstance(self.event_types, Unset):
            event_types = self.event_types

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "url": url,
            }
        )
        if deployments is not UNSET:
            field_dict["deployments"] = deployments
        if description is not UNSET:
            field_dict["description"] = description
        if event_types is not UNSET:
            field_dict["event_types"] = event_types

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        url = d.pop("url")

        deployments = cast(list[str], d.pop("deployments", UNSET))

        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))

        event_types = cast(list[str], d.pop("event_types", UNSET))

        create_webhook_dto = cls(
            url=url,
            deployments=deployments,
            description=description,
            event_types=event_types,
        )

        create_webhook_dto.additional_properties = d
        return create_webhook_dto

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
