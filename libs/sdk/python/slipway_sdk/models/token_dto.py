from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.owner_dto import OwnerDto


T = TypeVar("T", bound="TokenDto")


@_attrs_define
class TokenDto:
    """
    Attributes:
        created_at (datetime.datetime):
        created_by (str): Type and id of the actor that made it. Example: token:tok_boot.
        expires_at (datetime.datetime):
        id (str):
        last_used_at (datetime.datetime | None): At most a minute old while the token is in use.
        minters (list[OwnerDto]): Owners of the tokens by which it was minted, the first one first.
        name (str):
        owner (OwnerDto):
        revoked_at (datetime.datetime | None):
        revoked_by (None | str):
        scopes (list[str]):
        state (str): One of `active`, `revoked`, `expired`.
    """

    created_at: datetime.datetime
    created_by: str
    expires_at: datetime.datetime
    id: str
    last_used_at: datetime.datetime | None
    minters: list[OwnerDto]
    name: str
    owner: OwnerDto
    revoked_at: datetime.datetime | None
    revoked_by: None | str
    scopes: list[str]
    state: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at.isoformat()

        created_by = self.created_by

        expires_at = self.expires_at.isoformat()

        id = self.id

        last_used_at: None | str
        if isinstance(self.last_used_at, datetime.datetime):
            last_used_at = self.last_used_at.isoformat()
        else:
            last_used_at = self.last_used_at

        minters = []
        for minters_item_data in self.minters:
            minters_item = minters_item_data.to_dict()
            minters.append(minters_item)

        name = self.name

        owner = self.owner.to_dict()

        revoked_at: None | str
        if isinstance(self.revoked_at, datetime.datetime):
            revoked_at = self.revoked_at.isoformat()
        else:
            revoked_at = self.revoked_at

        revoked_by: None | str
        revoked_by = self.revoked_by

        scopes = self.scopes

        state = self.state

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "created_at": created_at,
                "created_by": created_by,
                "expires_at": expires_at,
                "id": id,
                "last_used_at": last_used_at,
                "minters": minters,
                "name": name,
                "owner": owner,
                "revoked_at": revoked_at,
                "revoked_by": revoked_by,
                "scopes": scopes,
                "state": state,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.owner_dto import OwnerDto

        d = dict(src_dict)
        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        created_by = d.pop("created_by")

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        id = d.pop("id")

        def _parse_last_used_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_used_at_type_0 = datetime.datetime.fromisoformat(data)

                return last_used_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        last_used_at = _parse_last_used_at(d.pop("last_used_at"))

        minters = []
        _minters = d.pop("minters")
        for minters_item_data in _minters:
            minters_item = OwnerDto.from_dict(minters_item_data)

            minters.append(minters_item)

        name = d.pop("name")

        owner = OwnerDto.from_dict(d.pop("owner"))

        def _parse_revoked_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                revoked_at_type_0 = datetime.datetime.fromisoformat(data)

                return revoked_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        revoked_at = _parse_revoked_at(d.pop("revoked_at"))

        def _parse_revoked_by(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        revoked_by = _parse_revoked_by(d.pop("revoked_by"))

        scopes = cast(list[str], d.pop("scopes"))

        state = d.pop("state")

        token_dto = cls(
            created_at=created_at,
            created_by=created_by,
            expires_at=expires_at,
            id=id,
            last_used_at=last_used_at,
            minters=minters,
            name=name,
            owner=owner,
            revoked_at=revoked_at,
            revoked_by=revoked_by,
            scopes=scopes,
            state=state,
        )

        token_dto.additional_properties = d
        return token_dto

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
