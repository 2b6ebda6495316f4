from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="SetConsoleAccessDto")


@_attrs_define
class SetConsoleAccessDto:
    """
    Attributes:
        access (bool): True grants, false revokes.
        external_organization_id (str): The organization: `org_id` in the provider's tokens. Example: org_01.
        external_user_id (str): The user: `sub` in the provider's tokens. Example: user_01.
        provider (str): The configured hosted identity provider. One of `oidc`.
        display_name (str | Unset): Stays as it was where absent. Example: Ada Lovelace.
        scopes (list[str] | Unset): At least one when granting; ignored when revoking. Each includes the lesser ones.
            Duplicates collapse.
    """

    access: bool
    external_organization_id: str
    external_user_id: str
    provider: str
    display_name: str | Unset = UNSET
    scopes: list[str] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        access = self.access

        external_organization_id = self.external_organization_id

        external_user_id = self.external_user_id

        provider = self.provider

        display_name = self.display_name

        scopes: list[str] | Unset = UNSET
        if not isinstance(self.scopes, Unset):
            scopes = self.scopes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "access": access,
                "external_organization_id": external_organization_id,
                "external_user_id": external_user_id,
                "provider": provider,
            }
        )
        if display_name is not UNSET:
            field_dict["display_name"] = display_name
        if scopes is not UNSET:
            field_dict["scopes"] = scopes

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        access = d.pop("access")

        external_organization_id = d.pop("external_organization_id")

        external_user_id = d.pop("external_user_id")

        provider = d.pop("provider")

        display_name = d.pop("display_name", UNSET)

        scopes = cast(list[str], d.pop("scopes", UNSET))

        set_console_access_dto = cls(
            access=access,
            external_organization_id=external_organization_id,
            external_user_id=external_user_id,
            provider=provider,
            display_name=display_name,
            scopes=scopes,
        )

        set_console_access_dto.additional_properties = d
        return set_console_access_dto

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
