from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.warning_dto import WarningDto


T = TypeVar("T", bound="CreatedWebhookDto")


@_attrs_define
class CreatedWebhookDto:
    """
    Attributes:
        created_at (datetime.datetime):
        created_by (str): Type and id of the actor that made it. Example: token:tok_boot.
        deployments (list[str]):
        description (None | str):
        disabled_at (datetime.datetime | None):
        disabled_reason (None | str): `gone`: the receiver answered 410. One of `gone`, `null`.
        event_types (list[str]):
        id (str):
        secret (str): Signs every request (standard-webhooks, HMAC-SHA256). Shown once. Example:
            whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw.
        state (str): One of `active`, `disabled`.
        url (str):
        warnings (list[WarningDto] | Unset):
    """

    created_at: datetime.datetime
    created_by: str
    deployments: list[str]
    description: None | str
    disabled_at: datetime.datetime | None
    disabled_reason: None | str
    event_types: list[str]
    id: str
    secret: str
    state: str
    url: str
    warnings: list[WarningDto] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at.isoformat()

        created_by = self.created_by

        deployments = self.deployments

        description: None | str
        description = self.description

        disabled_at: None | str
        if isinstance(self.disabled_at, datetime.datetime):
            disabled_at = self.disabled_at.isoformat()
        else:
            disabled_at = self.disabled_at

        disabled_reason: None | str
        disabled_reason = self.disabled_reason

        event_types = self.event_types

        id = self.id

        secret = self.secret

        state = self.state

        url = self.url

        warnings: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.warnings, Unset):
            warnings = []
            for warnings_item_data in self.warnings:
                warnings_item = warnings_item_data.to_dict()
                warnings.append(warnings_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "created_at": created_at,
                "created_by": created_by,
                "deployments": deployments,
                "description": description,
                "disabled_at": disabled_at,
                "disabled_reason": disabled_reason,
                "event_types": event_types,
                "id": id,
                "secret": secret,
                "state": state,
                "url": url,
            }
        )
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.warning_dto import WarningDto

        d = dict(src_dict)
        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        created_by = d.pop("created_by")

        deployments = cast(list[str], d.pop("deployments"))

        def _parse_description(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        description = _parse_description(d.pop("description"))

        def _parse_disabled_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                disabled_at_type_0 = datetime.datetime.fromisoformat(data)

                return disabled_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        disabled_at = _parse_disabled_at(d.pop("disabled_at"))

        def _parse_disabled_reason(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        disabled_reason = _parse_disabled_reason(d.pop("disabled_reason"))

        event_types = cast(list[str], d.pop("event_types"))

        id = d.pop("id")

        secret = d.pop("secret")

        state = d.pop("state")

        url = d.pop("url")

        _warnings = d.pop("warnings", UNSET)
        warnings: list[WarningDto] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = WarningDto.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        created_webhook_dto = cls(
            created_at=created_at,
            created_by=created_by,
            deployments=deployments,
            description=description,
            disabled_at=disabled_at,
            disabled_reason=disabled_reason,
            event_types=event_types,
            id=id,
            secret=secret,
            state=state,
            url=url,
            warnings=warnings,
        )

        created_webhook_dto.additional_properties = d
        return created_webhook_dto

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
